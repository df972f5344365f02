"""Invented people, places and dates from which families furnish their worlds. Any likeness to real people is accidental."""

import unicodedata
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from random import Random

_FIRST = (
    "Amara Aylin Beatriz Bjarne Cedric Chiara Daria Dmitri Edda Efua Elif Emre Farah Fergus Gael Giulia Hana Henrik Imani Ines "
    "Jakub Joana Kaito Katya Lars Leila Liv Luca Maren Mateus Mei Mirela Nadia Niamh Noor Olu Oskar Paloma Petra Quentin Rafael "
    "Rosa Sanna Sefa Tariq Thandi Tomasz Uma Viktor Wanda Xiomara Yara Yusuf Zofia Zoran"
).split()
_LAST = (
    "Abara Alvarez Bakker Barros Castellanos Çelik Dahl Delacroix Dvořák Eriksen Farouk Fiore Fonseca Gallagher Grzyb Haddad "
    "Hjelm Ibarra Ivanova Jansen Jørgensen Kaya Kimura Kovács Laurent Lindqvist Marchetti Mbeki Moreau Nakamura Novák Nwosu Okafor "
    "O'Shea Pereira Petrov Quiroga Rasmussen Rossi Sato Schäfer Silva Tanaka Thorne Umeh Vance Varga Weiss Yilmaz Zielińska"
).split()
_STREETS = ("Alder Lane", "Birch Road", "Canal Street", "Dock Road", "Elm Court", "Foundry Row", "Granary Way", "Harbour View")
_TOWNS = ("Ashby", "Brunswick", "Carlow", "Dunmore", "Elgin", "Fairhaven", "Greystone", "Hartwell", "Inverleigh", "Kirkwood")


@dataclass(frozen=True)
class Person:
    """An invented person."""

    name: str
    email: str

    @property
    def first(self) -> str:
        return self.name.split()[0]


def people(rng: Random, count: int, domain: str = "example.com") -> list[Person]:
    """Different people, with different first and last names."""
    pairs = zip(rng.sample(_FIRST, count), rng.sample(_LAST, count), strict=True)
    return [Person(name=f"{first} {last}", email=f"{_plain(first)}.{_plain(last)}@{domain}") for first, last in pairs]


def streets(rng: Random, count: int) -> list[str]:
    """Different street addresses with a house number."""
    return [f"{rng.randint(2, 98)} {street}" for street in rng.sample(_STREETS, count)]


def towns(rng: Random, count: int) -> list[str]:
    """Different towns."""
    return rng.sample(_TOWNS, count)


def moment(rng: Random) -> datetime:
    """The fixed time of a task: a working morning in 2026."""
    day = date(2026, 1, 12) + timedelta(days=rng.randint(0, 240))
    day -= timedelta(days=max(0, day.weekday() - 4))
    return datetime.combine(day, time(rng.choice((8, 9, 10, 11)), rng.choice((0, 15, 30))))


def days_before(rng: Random, day: date, count: int, low: int, high: int) -> list[date]:
    """`count` different days between `low` and `high` days before a day, latest first."""
    return [day - timedelta(days=offset) for offset in sorted(rng.sample(range(low, high + 1), count))]


def numbers(rng: Random, count: int, low: int, high: int) -> list[int]:
    """Different numbers that are at least 3 apart, for ids and amounts that must not collide."""
    chosen = rng.sample(range(low // 3, high // 3), count)
    return [3 * number + 1 for number in chosen]


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.replace("ø", "o").replace("ł", "l").replace("ı", "i"))
    return "".join(char for char in decomposed if char.isascii() and char.isalnum()).lower()
