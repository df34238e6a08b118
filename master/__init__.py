"""The master: couples co-simulation FMUs of FMI 2.0 and 3.0 from any tool. README.md describes its structure."""
