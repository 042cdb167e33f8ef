// Package provisioning decides which nodes the waiting pods of a snapshot need.
// Decide is its one entry point: it reads who waits, what stands and what is on
// its way, lets scheduling find the places, and writes the proposal with its
// report. It is pure.
package provisioning
