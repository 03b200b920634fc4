"""Studies for developers: experiments and reproductions of papers. Not part of the installed package."""
