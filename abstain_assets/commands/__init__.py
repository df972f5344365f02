"""The commands of `abstain`, one module per group. Each is thin: the work is done by the functions and assets of the stages."""
