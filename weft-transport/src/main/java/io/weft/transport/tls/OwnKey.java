// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/// The single TLS key of a process with its certificates, for either role.
final class OwnKey extends X509ExtendedKeyManager {

  private static final String NAME = "weft";

  private final PrivateKey key;
  private final List<X509Certificate> chain;

  OwnKey(PrivateKey key, List<X509Certificate> chain) {
    this.key = key;
    this.chain = chain;
  }

  private @Nullable String nameFor(String keyType) {
    return chain.getFirst().getPublicKey().getAlgorithm().equals(keyType) ? NAME : null;
  }

  private @Nullable String nameFor(String[] keyTypes) {
    for (String keyType : keyTypes) {
      if (nameFor(keyType) != null) {
        return NAME;
      }
    }
    return null;
  }

  private String @Nullable [] namesFor(String keyType) {
    return nameFor(keyType) == null ? null : new String[] {NAME};
  }

  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
    return namesFor(keyType);
  }

  @Override
  public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
    return namesFor(keyType);
  }

  @Override
  public @Nullable String chooseClientAlias(
      String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return nameFor(keyTypes);
  }

  @Override
  public @Nullable String chooseServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return nameFor(keyType);
  }

  @Override
  public @Nullable String chooseEngineClientAlias(
      String[] keyTypes, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
    return nameFor(keyTypes);
  }

  @Override
  public @Nullable String chooseEngineServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
    return nameFor(keyType);
  }

  @Override
  public X509Certificate[] getCertificateChain(String name) {
    return chain.toArray(new X509Certificate[0]);
  }

  @Override
  public PrivateKey getPrivateKey(String name) {
    return key;
  }
}
