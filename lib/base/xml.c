/* SPDX-License-Identifier: MIT
 *
 * Text for XML: JUnit's files and drawings.
 */
#include <string.h>

#include "base/text.h"

void text_xml(struct text *text, const char *string)
{
	size_t left = strlen(string), n;

	for (; left; string += n, left -= n) {
		const unsigned char c = (unsigned char)*string;

		n = c < 0x80 ? 1 : text_utf8_length((const unsigned char *)string, left);
		if (c == '<')
			text_add(text, "&lt;");
		else if (c == '>')
			text_add(text, "&gt;");
		else if (c == '&')
			text_add(text, "&amp;");
		else if (c == '"')
			text_add(text, "&quot;");
		else if (!n || (c < ' ' && c != '\t' && c != '\n') || c == 0x7f ||
			 (n == 3 && (!memcmp(string, "\xef\xbf\xbe", 3) ||
				     !memcmp(string, "\xef\xbf\xbf", 3))))
			text_add(text, "?");
		else
			text_add_bytes(text, string, n);
		n = n ? n : 1;
	}
}
