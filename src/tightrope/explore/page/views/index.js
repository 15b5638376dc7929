// All views in the order of their tabs: what each is called for the eye, and in full.

import {AuditView} from "./audit.js";
import {BudgetView} from "./budget.js";
import {CompareView} from "./compare.js";
import {CurveView} from "./curve.js";
import {LedgerView} from "./ledger.js";
import {RiskView} from "./risk.js";
import {StepsView} from "./steps.js";
import {TradeoffView} from "./tradeoff.js";

export const SHOWN = {
  curve: {title: "δ over ε", name: "Delta over epsilon", View: CurveView},
  steps: {title: "ε over steps", name: "Epsilon over steps", View: StepsView},
  tradeoff: {title: "Trade-off", name: "Trade-off of an attacker", View: TradeoffView},
  risk: {title: "Risk", name: "Risk of one person", View: RiskView},
  compare: {title: "Classic bounds", name: "Comparison with classic bounds", View: CompareView},
  budget: {title: "Error budget", name: "Error budget", View: BudgetView},
  audit: {title: "Audit", name: "Audit of an attack's scores", View: AuditView},
  ledger: {title: "Ledger", name: "Budgets of the ledger", View: LedgerView},
};
