"""The experiments of "Optimal Accounting via Characteristic Function" (Zhu, Dong, Wang 2021), one module per figure."""
