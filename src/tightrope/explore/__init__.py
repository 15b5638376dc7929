"""The explorer: a page on this machine on which guarantees move while their numbers are dragged.

server.py opens it, guard.py says who may ask, app.py takes questions, lanes.py and process.py hand them to processes of
their own (worker.py), newest first. answers.py says what may be asked and answers it, one function per view; form.py is
a text as the page's form, menu.py what its forms offer, copies.py the same question as a command and in Python.
ledger.py reads a ledger, where one is given, and ledger_views.py says what the page shows of it.
page/ is what the browser gets: plain modules, nothing from elsewhere.
Guarantee: every number that is shown is a text that was rounded outward here; the browser rounds none.
"""
