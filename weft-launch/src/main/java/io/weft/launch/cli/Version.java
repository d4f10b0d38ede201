// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import java.util.Optional;
import picocli.CommandLine.IVersionProvider;

/// Weft's version, from its jar, and the version of the running Java.
final class Version implements IVersionProvider {

  @Override
  public String[] getVersion() {
    String version =
        Optional.ofNullable(Main.class.getPackage().getImplementationVersion())
            .orElse("development build");
    return new String[] {"weft " + version, "Java " + Runtime.version()};
  }
}
