// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OwnedTest {

  private final List<String> ended = new ArrayList<>();

  /// A resource that records its release.
  private final class Thing extends Owned {
    private final String name;
    private final boolean first;
    private boolean busy;
    private boolean broken;

    Thing(String name) {
      this.name = name;
      first = false;
    }

    Thing(String name, boolean first, Owned... owners) {
      super(List.of(owners));
      this.name = name;
      this.first = first;
      enter();
    }

    @Override
    boolean endsFirst() {
      return first;
    }

    @Override
    void mayClose() {
      if (busy) {
        throw new IllegalStateException(name + " is busy");
      }
    }

    @Override
    void release() {
      ended.add(name);
      if (broken) {
        throw new VerbsException("end " + name, 16, "");
      }
    }

    @Override
    public String toString() {
      return name;
    }
  }

  @Test
  void resourcesThatEndFirstAreReleasedBeforeYoungerSiblings() {
    Thing device = new Thing("device");
    Thing domain = new Thing("domain", false, device);
    Thing channel = new Thing("channel", false, device);
    Thing queue = new Thing("queue", false, channel);
    new Thing("region", false, domain);
    new Thing("pair", true, domain, queue);
    new Thing("later region", false, domain);
    device.close();
    assertThat(ended)
        .containsExactly("pair", "queue", "channel", "later region", "region", "domain", "device");
    device.close();
    assertThat(ended).hasSize(7);
  }

  @Test
  void aClosedResourceIsNotReleasedAgainByItsOwner() {
    Thing device = new Thing("device");
    Thing domain = new Thing("domain", false, device);
    domain.close();
    device.close();
    assertThat(ended).containsExactly("domain", "device");
    assertThatThrownBy(() -> new Thing("late", false, domain))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("domain is closed");
  }

  @Test
  void aBusyResourceIsClosedOnlyWithItsOwner() {
    Thing device = new Thing("device");
    Thing region = new Thing("region", false, device);
    region.busy = true;
    assertThatThrownBy(region::close).isInstanceOf(IllegalStateException.class);
    assertThat(ended).isEmpty();
    device.close();
    assertThat(ended).containsExactly("region", "device");
  }

  @Test
  void aReleaseFailureDoesNotStopTheCloseAndIsThrownAtItsEnd() {
    Thing device = new Thing("device");
    Thing one = new Thing("one", false, device);
    Thing two = new Thing("two", false, device);
    one.broken = true;
    two.broken = true;
    assertThatThrownBy(device::close)
        .isInstanceOf(VerbsException.class)
        .hasMessageContainingAll("end two", "EBUSY")
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
    assertThat(ended).containsExactly("two", "one", "device");
  }
}
