"""The view model: everything a renderer may know, JSON-ready and versioned."""
