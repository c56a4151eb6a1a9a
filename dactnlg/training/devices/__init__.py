"""Training on several devices and in several processes: how they find each other and share gradients."""
