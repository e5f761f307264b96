"""The Gherkin vocabulary: step modules, and the bindings that let pytest-bdd find the features."""
