"""`python -m mbjax` is the command `mbjax`."""

from .cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
