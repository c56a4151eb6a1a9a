"""The commands, a module for each kind; they import what they need when they run, so that help waits for nothing."""
