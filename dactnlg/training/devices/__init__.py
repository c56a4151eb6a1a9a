"""Several devices and processes that train together: how they find each other, and share gradients."""
