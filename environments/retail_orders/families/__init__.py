"""Task families of the shop: two operational, three informational."""

from abstain_assets.pairs.family import Family
from environments.retail_orders.families.cancel_order import CancelOrder
from environments.retail_orders.families.choose_product import ChooseProduct
from environments.retail_orders.families.delivery_report import DeliveryReport
from environments.retail_orders.families.price_report import PriceReport
from environments.retail_orders.families.settle_return import SettleReturn

FAMILIES: tuple[Family, ...] = (CancelOrder(), ChooseProduct(), DeliveryReport(), PriceReport(), SettleReturn())
