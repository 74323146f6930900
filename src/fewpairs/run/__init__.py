"""One path from a call to a result: arguments checked, a plan priced, the plan carried out."""
