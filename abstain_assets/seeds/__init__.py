"""The seeds: requests of public agent benchmarks, cleaned, sampled, and described by what an environment must offer for them."""
