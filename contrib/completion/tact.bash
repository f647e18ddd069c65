# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Completion of tact for bash: commands, options, choices, CPUs and files.  What a command takes,
# it says itself (--list-options), so that this never is out of date.

_tact_archs() {
	"$1" archs -q -f csv 2>/dev/null | tail -n +2 | cut -d, -f1
	echo native all
}

_tact() {
	local tact=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local command=() rows kind short long argument choices

	COMPREPLY=()
	[ "$COMP_CWORD" -gt 1 ] && command=("${COMP_WORDS[1]}")
	[ "${command[0]}" = mix ] && [ "$COMP_CWORD" -gt 2 ] && command+=("${COMP_WORDS[2]}")
	[ "${command[0]}" = help ] && command=()
	rows=$("$tact" "${command[@]}" --list-options 2>/dev/null)
	# A tab separates; read would merge several of them.
	rows=${rows//$'\t'/$'\x1f'}
	while IFS=$'\x1f' read -r kind short long argument choices _; do
		if [ "$kind" = command ]; then
			[[ $short == "$word"* ]] && COMPREPLY+=("$short")
			continue
		fi
		if [ -n "$argument" ] && [ "${argument:0:1}" != + ] &&
			{ [ "$before" = "$long" ] || [ "$before" = "$short" ]; }; then
			case $long in
			--arch) choices=$(_tact_archs "$tact") ;;
			esac
			# shellcheck disable=SC2207
			if [ -n "$choices" ]; then
				COMPREPLY=($(compgen -W "$choices" -- "$word"))
			else
				COMPREPLY=($(compgen -f -- "$word"))
			fi
			return
		fi
		[[ $word == -* && $long == "$word"* ]] && COMPREPLY+=("$long")
	done <<<"$rows"
	# shellcheck disable=SC2207
	[[ $word == -* || ${#COMPREPLY[@]} -gt 0 || $COMP_CWORD -eq 1 ]] ||
		COMPREPLY=($(compgen -f -- "$word"))
}

complete -o filenames -F _tact tact
