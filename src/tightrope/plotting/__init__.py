"""Pictures: the one style of all of them, and whatever is drawn with more than axes; nothing else imports matplotlib.

style.py has axes to draw on, curves with bands, and what notebooks show; tradeoff.py and risk.py draw the attacker;
artists.py has what some pictures are made of beside axes, for those who import it late.
"""
