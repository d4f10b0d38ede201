// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TensorNamesTest {

  private final TensorNames names = new TensorNames("session_1_0", 1, 0);

  @Test
  void longNamesWithACommonPrefixDoNotCollide() {
    String scope = "ü".repeat(2000);
    List<String> tensors = List.of(scope + "/a:0", scope + "/b:0");
    assertThat(names.feeds(tensors, 7)).doesNotHaveDuplicates();
    assertThat(names.fetches(tensors, 7)).doesNotHaveDuplicates();
  }

  @Test
  void feedsAreSentToTheServerAndFetchesToTheClient() {
    var feed = names.feeds(List.of("x:0"), 7).getFirst();
    var fetch = names.fetches(List.of("x:0"), 7).getFirst();
    assertThat(feed.edge().source()).isEqualTo(1);
    assertThat(feed.edge().destination()).isZero();
    assertThat(fetch.edge().source()).isZero();
    assertThat(fetch.edge().destination()).isEqualTo(1);
    assertThat(feed.step()).isEqualTo(fetch.step()).isEqualTo(7);
  }
}
