/* SPDX-License-Identifier: MIT
 *
 * The first and only program of the system that check_system.sh boots: runs the lines of /commands,
 * each a program with arguments, or `>FILE=TEXT`, says how each ended, and turns the machine off.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_LINE = 512, MAX_WORDS = 64 };

static void run(char *line)
{
	char *words[MAX_WORDS + 1] = {NULL};
	int n = 0, status = 0;
	pid_t child;

	printf("### %s\n", line);
	fflush(stdout);
	for (char *word = strtok(line, " "); word && n < MAX_WORDS; word = strtok(NULL, " "))
		words[n++] = word;
	child = fork();
	if (!child) {
		execv(words[0], words);
		_exit(127);
	}
	waitpid(child, &status, 0);
	printf("### status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	fflush(stdout);
}

static void put(char *line)
{
	char *text = strchr(line, '=');
	int fd;

	if (!text)
		return;
	*text++ = '\0';
	fd = open(line, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		printf("### %s cannot be written\n", line);
	if (fd >= 0)
		close(fd);
}

int main(void)
{
	static const char *const folders[][2] = {
		{"/proc", "proc"}, {"/sys", "sysfs"}, {"/dev", "devtmpfs"}, {"/tmp", "tmpfs"}};
	char line[MAX_LINE];
	FILE *commands;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		mkdir(folders[i][0], 0755);
		mount(folders[i][1], folders[i][0], folders[i][1], 0, "");
	}
	commands = fopen("/commands", "r");
	while (commands && fgets(line, sizeof(line), commands)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '>')
			put(line + 1);
		else if (line[0])
			run(line);
	}
	reboot(RB_POWER_OFF);
	return 1;
}
