"""Travellers, documents, flights, bookings and tickets at one travel agency."""
