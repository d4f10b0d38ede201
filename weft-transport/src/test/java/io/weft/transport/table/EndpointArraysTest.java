// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.table;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EndpointArraysTest {

  @Test
  void anArrayIsCopiedWithOneMoreOrOneLess() {
    String[] before = {"a", "b"};
    String[] more = EndpointArrays.with(before, "c");
    assertThat(more).containsExactly("a", "b", "c");
    assertThat(EndpointArrays.without(more, "b")).containsExactly("a", "c");
    assertThat(EndpointArrays.without(more, "d")).containsExactly("a", "b", "c");
    assertThat(EndpointArrays.without(new String[] {"a"}, "a")).isEmpty();
    assertThat(more).containsExactly("a", "b", "c");
    assertThat(before).containsExactly("a", "b");
  }
}
