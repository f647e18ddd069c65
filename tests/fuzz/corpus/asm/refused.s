.macro m a b
\a\b "x"
.endm
m .inc, bin
".incbin" "x"
"a b": nop
.irp x,bin
.inc\x "f"
.endr
.string "; .include x"
