"""What whoever adds to Tightrope builds on, beside the names of `tightrope` itself: modules, one for each purpose.

For a mechanism, a transformation or a metric of one's own:

    laws          pairs of laws
    parameters    checks of parameters
    mechanisms    transformations and other parts of mechanisms, for those who make, walk through or translate them
    metrics       the law of a run, as a metric reads it
    numbers       numbers rounded in a stated direction, in float64 and in balls
    moments       moments of the loss at real orders

For an adapter or an application:

    questions     what may be asked, and how
    engines       which engine may be asked for
    expressions   texts that are mechanisms, and the names that they may use
    result        answers as values and as JSON
    documents     what all JSON documents have in common
    checking      verdicts of the checker
    training      what is known of loaders, and the number of a plan that is open
    comparing     comparisons of several runs
    tables        results as tables, in every form
    plots         results as pictures, in one style; needs matplotlib
    artists       what some pictures are made of beside axes
    wording       numbers and names in messages
    work          how much a question may take
    processes     processes that work for a server
    servers       sockets of servers; needs the extra explore or ledger

What an application has for another one:

    reports       reports, ready to be asked for and written
    filing        what the pages of a filed document are made of
    sweeping      a sweep in its parts
    budgets       budgets of a ledger in words and cells
    ledgers       what is read of a ledger beside its answers; needs the extra ledger
    ledger_server the server of a ledger; needs the extra ledger
    explorer      the page of the explorer; needs the extra explore
    selftesting   random runs on this machine

Each is loaded where it is asked for. The applications that come along (the command line, the ledger, the explorer,
reports, sweeps, adapters, the self-test) import these modules and `tightrope`, and nothing else of the package.
"""
