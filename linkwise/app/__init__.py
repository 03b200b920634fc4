"""The local web app: a project in one file, a server, and two engines that it asks."""
