// SPDX-License-Identifier: Apache-2.0
// Polynomials behind the functions in functions32.simd.h and functions64.simd.h, from the lowest
// power on. Written by tools/fit_functions.py.
#pragma once

namespace daliesque::tensor {

struct ExpTerms {
  // (exp(x) - 1 - x) / x^2, wrong by less than 2^-23.
  static constexpr float float32[] = {0x1p-1f, 0x1.5554dcp-3f, 0x1.55551ap-5f, 0x1.120b6ep-7f,
                                      0x1.6d110ap-10f};
  // (exp(x) - 1 - x) / x^2, wrong by less than 2^-53.
  static constexpr double float64[] = {
      0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d63p-5,  0x1.11111111109b3p-7,
      0x1.6c16c1788bd90p-10, 0x1.a01a01a7c41d5p-13, 0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19,
      0x1.289185613a3d6p-22, 0x1.af38a9b0ec855p-26};
};
struct ExpTwiceTerms {
  // (exp(2x) - 1) / x, wrong by less than 2^-25.
  static constexpr float float32[] = {0x1p+1f,        0x1p+1f,       0x1.55547cp+0f,
                                      0x1.5554eap-1f, 0x1.123d9p-2f, 0x1.6d4324p-4f};
  // (exp(2x) - 1) / x, wrong by less than 2^-54.
  static constexpr double float64[] = {
      0x1.0000000000000p+1,  0x1.0000000000005p+1,  0x1.5555555555557p+0, 0x1.55555555520a4p-1,
      0x1.11111111100dcp-2,  0x1.6c16c17f46982p-4,  0x1.a01a01abe7fe1p-6, 0x1.a019a6611cad5p-8,
      0x1.71de0231960ebp-10, 0x1.28a2ca617b969p-12, 0x1.af4de97ca4194p-15};
};
struct Exp2Terms {
  // (2^x - 1) / x, wrong by less than 2^-32.
  static constexpr float float32[] = {0x1.62e43p-1f,  0x1.ebfbep-3f,   0x1.c6b08ep-5f,
                                      0x1.3b2a1cp-7f, 0x1.5d879ep-10f, 0x1.44402p-13f,
                                      0x1.00a594p-16f};
};
struct LogTerms {
  // (log(1 + x) - x) / x^2, wrong by less than 2^-24.
  static constexpr float float32[] = {-0x1.fffffep-2f, 0x1.555554p-2f,  -0x1.00020cp-2f,
                                      0x1.99a014p-3f,  -0x1.548368p-3f, 0x1.22ea2cp-3f,
                                      -0x1.0cdb1ep-3f, 0x1.04915ap-3f,  -0x1.3a4fa2p-4f};
  // (log((1 + s) / (1 - s)) - 2s) / s^3 of s^2, wrong by less than 2^-58.
  static constexpr double float64[] = {
      0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476c87p-2, 0x1.c71c720160b47p-3,
      0x1.745cf901605f5p-3, 0x1.3b1c360763bddp-3, 0x1.0fbe83c2cb59ep-3, 0x1.0c04595976d29p-3};
};
struct Log2Terms {
  // log2(1 + x) / x - 1, wrong by less than 2^-26.
  static constexpr float float32[] = {
      0x1.c551dap-2f,  -0x1.71547p-1f, 0x1.ec70aap-2f, -0x1.715a7p-2f, 0x1.277a54p-2f,
      -0x1.eab772p-3f, 0x1.a38c1cp-3f, -0x1.87f84p-3f, 0x1.7a6694p-3f, -0x1.b84f32p-4f};
};
struct Log10Terms {
  // log10(1 + x) / x - 1/2, wrong by less than 2^-28.
  static constexpr float float32[] = {
      -0x1.0d213ap-4f, -0x1.bcb7aap-3f, 0x1.287a7ep-3f,  -0x1.bcbee4p-4f, 0x1.63ca7p-4f,
      -0x1.2770dap-4f, 0x1.f92f7p-5f,   -0x1.d7fa84p-5f, 0x1.c7a3ccp-5f,  -0x1.0917b8p-5f};
};
struct PowTerms {
  // (log2((1 + s) / (1 - s)) - (2s + 2/3 s^3) / log(2)) / s^5 of s^2, wrong by less than 2^-22.
  static constexpr float float32[] = {0x1.2776ccp-1f, 0x1.a5f49ep-2f, 0x1.547f04p-2f};
};
struct SinTerms {
  // (sin(x) - x) / x^3 of x^2, wrong by less than 2^-25.
  static constexpr float float32[] = {-0x1.555552p-3f, 0x1.110c28p-7f, -0x1.9ac98ep-13f};
  // (sin(x) - x) / x^3 of x^2, wrong by less than 2^-55.
  static constexpr double float64[] = {-0x1.5555555555555p-3,  0x1.1111111110bb2p-7,
                                       -0x1.a01a019e83816p-13, 0x1.71de379654304p-19,
                                       -0x1.ae600aca92c63p-26, 0x1.5e0b05bff209ap-33};
};
struct CosTerms {
  // (cos(x) - 1 + x^2 / 2) / x^4 of x^2, wrong by less than 2^-28.
  static constexpr float float32[] = {0x1.555554p-5f, -0x1.6c12d2p-10f, 0x1.9bd88p-16f};
  // (cos(x) - 1 + x^2 / 2) / x^4 of x^2, wrong by less than 2^-59.
  static constexpr double float64[] = {0x1.5555555555555p-5,  -0x1.6c16c16c16967p-10,
                                       0x1.a01a019f4e9b4p-16, -0x1.27e4fa17bf139p-22,
                                       0x1.1eeb68cd22f56p-29, -0x1.907d8f29fe7d9p-37};
};
struct TanTerms {
  // (tan(x) - x) / x^3 of x^2, wrong by less than 2^-26.
  static constexpr float float32[] = {0x1.555556p-2f, 0x1.111088p-3f, 0x1.ba52a2p-5f,
                                      0x1.623d0ep-6f, 0x1.46743ap-7f, 0x1.368a84p-10f,
                                      0x1.f7c856p-9f};
  // (tan(x) - x) / x^3 of x^2, wrong by less than 2^-57.
  static constexpr double float64[] = {
      0x1.5555555555555p-2,  0x1.1111111111099p-3,   0x1.ba1ba1ba29c7ap-5,  0x1.664f487d8071cp-6,
      0x1.226e36631fd6dp-7,  0x1.d6d39431ecc11p-9,   0x1.7da7fbed40d86p-10, 0x1.351b6fa306886p-11,
      0x1.f9e473fa697dap-13, 0x1.7966c416b01b1p-14,  0x1.d2671af5c3860p-15, -0x1.721bab9a4b95dp-17,
      0x1.327267b66a1e8p-15, -0x1.336aea45ef133p-16, 0x1.1cb84f5fe86afp-17};
};
struct AtanTerms {
  // (atan(x) - x) / x^3 of x^2, wrong by less than 2^-25.
  static constexpr float float32[] = {-0x1.555554p-2f, 0x1.99983cp-3f,  -0x1.246cd2p-3f,
                                      0x1.c3f168p-4f,  -0x1.6295f8p-4f, 0x1.0001c6p-4f,
                                      -0x1.25dc12p-5f, 0x1.ba9f66p-7f,  -0x1.38de56p-9f};
  // (atan(x) - x) / x^3 of x^2, wrong by less than 2^-54.
  static constexpr double float64[] = {
      -0x1.5555555555555p-2, 0x1.999999999934ap-3, -0x1.24924924360cbp-3, 0x1.c71c7185314cbp-4,
      -0x1.745d0b26b83e6p-4, 0x1.3b1262d955799p-4, -0x1.10fa75382533cp-4, 0x1.dfe61e808ffddp-5,
      -0x1.a098bb6ba36fbp-5, 0x1.41603647c4b41p-5, -0x1.3a2b7a07c45fbp-6};
};
struct AsinTerms {
  // (asin(x) - x) / x^3 of x^2, wrong by less than 2^-27.
  static constexpr float float32[] = {0x1.555554p-3f, 0x1.333432p-4f, 0x1.6d5bb4p-5f,
                                      0x1.fd8e14p-6f, 0x1.18f6cep-6f, 0x1.1400e6p-5f};
  // (asin(x) - x) / x^3 of x^2, wrong by less than 2^-55.
  static constexpr double float64[] = {
      0x1.5555555555556p-3, 0x1.3333333332ec9p-4, 0x1.6db6db6e32015p-5, 0x1.f1c71c1da63a6p-6,
      0x1.6e8bb1c9c50afp-6, 0x1.1c4d35a7a7712p-6, 0x1.c9cf0c30fbc69p-7, 0x1.78262197d46adp-7,
      0x1.52434da33da16p-7, 0x1.659ea882458dap-8, 0x1.1d2052b6f8fffp-6, -0x1.e6c3690dc6577p-7,
      0x1.d733cdf1f569bp-6};
};
struct SinhTerms {
  // (sinh(x) - x) / x^3 of x^2, wrong by less than 2^-32.
  static constexpr float float32[] = {0x1.555556p-3f, 0x1.1110ep-7f, 0x1.a124f2p-13f};
  // (sinh(x) - x) / x^3 of x^2, wrong by less than 2^-56.
  static constexpr double float64[] = {0x1.5555555555556p-3, 0x1.11111111109b3p-7,
                                       0x1.a01a01a7c41d5p-13, 0x1.71de0dae63bb3p-19,
                                       0x1.af38a9b0ec8cep-26};
};
struct CoshTerms {
  // (cosh(x) - 1) / x^2 of x^2, wrong by less than 2^-29.
  static constexpr float float32[] = {0x1p-1f, 0x1.5554eap-5f, 0x1.6d4324p-10f};
  // (cosh(x) - 1) / x^2 of x^2, wrong by less than 2^-53.
  static constexpr double float64[] = {0x1.0000000000001p-1, 0x1.5555555553d63p-5,
                                       0x1.6c16c1788bd90p-10, 0x1.a019b90d2ae79p-16,
                                       0x1.289185613a439p-22};
};
struct TanhTerms {
  // (tanh(x) - x) / x^3 of x^2, wrong by less than 2^-26.
  static constexpr float float32[] = {-0x1.555554p-2f, 0x1.110feap-3f, -0x1.b9a028p-5f,
                                      0x1.5d20bp-6f, -0x1.b12aecp-8f};
  // (tanh(x) - x) / x^3 of x^2, wrong by less than 2^-56.
  static constexpr double float64[] = {
      -0x1.5555555555555p-2,  0x1.1111111111028p-3,  -0x1.ba1ba1ba01e2dp-5,  0x1.664f4879d1e81p-6,
      -0x1.226e33c32e563p-7,  0x1.d6d3794cac913p-9,  -0x1.7d9d731e182ecp-10, 0x1.3513b08c5b032p-11,
      -0x1.f154cd3e4b465p-13, 0x1.80af29e39bfcep-14, -0x1.fbe59bb39db44p-16, 0x1.9612e408a49dep-18};
};
struct AsinhTerms {
  // (asinh(x) - x) / x^3 of x^2, wrong by less than 2^-30.
  static constexpr float float32[] = {-0x1.555556p-3f, 0x1.33331p-4f,   -0x1.6dac42p-5f,
                                      0x1.f08eap-6f,   -0x1.657b24p-6f, 0x1.ec651ep-7f,
                                      -0x1.0943eep-7f, 0x1.2ef86ep-9f};
};
struct AcoshTerms {
  // (acosh(1 + x) / sqrt(2x) - 1) / x, wrong by less than 2^-26.
  static constexpr float float32[] = {-0x1.555552p-4f, 0x1.332ed2p-6f, -0x1.6c98ecp-8f,
                                      0x1.d79732p-10f, -0x1.d434b2p-12f};
};
struct AtanhTerms {
  // (atanh(x) - x) / x^3 of x^2, wrong by less than 2^-28.
  static constexpr float float32[] = {0x1.555556p-2f, 0x1.9998d4p-3f, 0x1.24c94cp-3f,
                                      0x1.bc8828p-4f, 0x1.dbbb3ap-4f};
};

}  // namespace daliesque::tensor
