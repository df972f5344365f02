"""Customers, orders, products, shipments, returns and refunds of one online shop."""
