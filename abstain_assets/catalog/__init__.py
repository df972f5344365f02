"""The catalog: what the shipped environments can do, by which seeds are routed to them."""
