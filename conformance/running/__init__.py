"""One run of the suite: settings, stage, features against the catalogue, outcomes, and the run itself."""
