"""Privacy buckets in the hands of their users: the engine's settings, and its lists as values.

settings.py (what `engine=` takes) -> value.py (B, l and l~, composed and read by hand) -> drawing.py.
"""

from .settings import Buckets as Buckets
from .terms import Bucket as Bucket
from .terms import BucketTerms as BucketTerms
from .value import BucketList as BucketList
