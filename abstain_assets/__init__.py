"""The lifecycle of the benchmark, one folder per stage; data flows in the order of the stages."""
