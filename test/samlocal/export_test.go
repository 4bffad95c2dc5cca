package samlocal

// Address is where the relay listens, as this machine knows it.
func (r *Relay) Address() string { return r.listener.Addr().String() }
