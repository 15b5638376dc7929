"""All claims, in the order of the page."""

from __future__ import annotations

from studies.tight_on_budget import claims_conversation, claims_dialing, claims_theory, post_processing

CLAIMS = (*claims_theory.CLAIMS, *post_processing.CLAIMS, *claims_dialing.CLAIMS, *claims_conversation.CLAIMS)
