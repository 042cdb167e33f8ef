// Package proof holds the planner to what it promises, on clusters that nobody
// has chosen: its plans pass the naive checker and plan.Check, the order of the
// input does not matter, and on small clusters the price is near the optimum.
package proof
