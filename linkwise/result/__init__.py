"""What comes out: the dendrogram, and the independent check that it keeps what was said."""

from linkwise.result._branches import Moved
from linkwise.result._dendrogram import Dendrogram
from linkwise.result._outliers import OutlierCut
from linkwise.result._verify import Certificate, verify

__all__ = ["Certificate", "Dendrogram", "Moved", "OutlierCut", "verify"]
