"""Virtual offices: several PCs with their own network, on one Linux machine."""
