"""The document that is filed: what ran, what it costs and for whom, what that means, and the certificate.

request.py checks what is asked for, gather.py asks it, value.py holds the answers; page.py writes them as one HTML file
(summary.py, ran.py, meaning.py and proof.py its sections, words.py their sentences, pictures.py the pictures), pdf.py
as PDF; from_file.py reads what was written before.
"""

from __future__ import annotations

from .request import report as report
from .value import Report as Report
