// Package gen makes clusters for tests and benchmarks: small random ones with
// every kind of constraint (Random), and the seven kinds of large workload that
// the benchmarks plan (Workload).
//
// Everything follows from the seed: the same arguments give the same values. It
// reads no clock and no files.
package gen
