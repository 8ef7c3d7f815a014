"""Steps of time loops that are kept with their stages, and adjoints that go back through them."""
