"""Other libraries' classes over a Holdfast memory: change the import, keep the program."""
