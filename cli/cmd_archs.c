int cmd_archs(int argc, char **argv); int cmd_archs(int argc, char **argv) { (void)argc; (void)argv; return 0; }
