// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.transport.Address;
import java.util.List;

/// The value that another rank has put into the store.
public final class RankEntryTarget implements FuzzTarget {

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public RankEntryTarget() {}

  @Override
  public String name() {
    return "announcement";
  }

  @Override
  public List<byte[]> seeds() {
    var host = new HostIdentity("node7", "3b2c1d0e-0000-4000-8000-000000000001");
    return List.of(
        new RankEntry(
                4,
                "4711@1700000000000",
                host,
                new Processors("0-1"),
                List.of(Address.parse("tcp:127.0.0.1:9")),
                List.of("segment-bytes=131072"))
            .encode(),
        new RankEntry(
                2,
                "1@0",
                new HostIdentity("", ""),
                Processors.UNKNOWN,
                List.of(Address.parse("tcp:[::1]:65535"), Address.parse("inproc:x")),
                List.of())
            .encode());
  }

  @Override
  public List<byte[]> dictionary() {
    return FuzzTarget.texts("weft-member 3", "\n", "2147483648", "tcp:");
  }

  @Override
  public void decode(byte[] input) {
    RankEntry entry;
    try {
      entry = RankEntry.decode(input);
    } catch (IllegalArgumentException refused) {
      return;
    }
    if (!RankEntry.decode(entry.encode()).equals(entry)) {
      throw new AssertionError("read back differently: " + entry);
    }
  }
}
