# SPDX-License-Identifier: MIT
#
# Completion of tact for fish: commands, options, choices, CPUs and files.  What a command takes, it
# says itself (--list-options), so that this never is out of date.

function __tact_command
	set -l words (commandline -opc)
	set -e words[1]
	if test (count $words) -gt 0; and test "$words[1]" = mix; and test (count $words) -gt 1
		printf '%s\n' $words[1..2]
	else if test (count $words) -gt 0; and test "$words[1]" != help
		echo $words[1]
	end
end

function __tact_rows
	tact (__tact_command) --list-options 2>/dev/null
end

function __tact_complete
	set -l before (commandline -opc)[-1]
	set -l rows (__tact_rows)
	for row in $rows
		set -l cells (string split \t -- $row)
		if test $cells[1] = command
			printf '%s\t%s\n' $cells[2] $cells[3]
			continue
		end
		if test -n "$cells[4]"; and not string match -q '+*' -- $cells[4]
			if test "$before" = "$cells[3]"; or test "$before" = "$cells[2]"
				if test "$cells[3]" = --arch
					tact archs -q -f csv 2>/dev/null | tail -n +2 | cut -d, -f1
					printf '%s\n' native all
				else if test -n "$cells[5]"
					string split ' ' -- (string trim -- $cells[5])
				else
					__fish_complete_path (commandline -ct)
				end
				return
			end
		end
	end
	if not string match -q 'command*' -- "$rows[1]"
		for row in $rows
			set -l cells (string split \t -- $row)
			printf '%s\t%s\n' $cells[3] $cells[6]
			test -n "$cells[2]"; and printf '%s\t%s\n' $cells[2] $cells[6]
		end
		string match -q -- '-*' (commandline -ct); or __fish_complete_path (commandline -ct)
	end
end

complete -c tact -f -a '(__tact_complete)'
