"""Functions of numbers behind the answers, one method per file; they know neither runs nor campaigns."""
