// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tcp;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.transport.Address;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// The address at which a peer listens.
public final class AddressTarget implements FuzzTarget {

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public AddressTarget() {}

  @Override
  public String name() {
    return "address";
  }

  @Override
  public List<byte[]> seeds() {
    return FuzzTarget.texts(
        "tcp:127.0.0.1:4711", "tcp:[fe80::1%1]:65535", "tcp:[::ffff:10.0.0.7]:1");
  }

  @Override
  public void decode(byte[] input) {
    try {
      Address address = Address.parse(new String(input, StandardCharsets.UTF_8));
      InetSocketAddress found = TcpAddress.toConnect(address.location());
      if (found.isUnresolved()) {
        throw new AssertionError("a name was accepted that must be looked up: " + found);
      }
    } catch (IllegalArgumentException refused) {
      if (refused.getMessage() == null) {
        throw new AssertionError("no message", refused);
      }
    }
  }
}
