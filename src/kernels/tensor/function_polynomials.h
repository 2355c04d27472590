// SPDX-License-Identifier: Apache-2.0
// Polynomials behind the functions in functions.simd.cpp, from the lowest power on. Written by
// tools/fit_functions.py.
#pragma once

namespace daliesque::tensor {

/// `float32` has the terms that a float32 result needs, `float64` those that a float64 one does.
struct ExpTerms {  // (exp(x) - 1 - x) / x^2
  // Wrong by less than 2^-29.
  static constexpr double float32[] = {0x1.0000000b9129bp-1,  0x1.5555555a78ed4p-3,
                                       0x1.5554e9063586ep-5,  0x1.1110e0f238322p-7,
                                       0x1.6d43246b523b4p-10, 0x1.a124f19fe89acp-13};
  // Wrong by less than 2^-53.
  static constexpr double float64[] = {
      0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d63p-5,  0x1.11111111109b3p-7,
      0x1.6c16c1788bd90p-10, 0x1.a01a01a7c41d5p-13, 0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19,
      0x1.289185613a3d6p-22, 0x1.af38a9b0ec855p-26};
};
struct LogTerms {  // (log((1 + s) / (1 - s)) - 2s) / s^3 of s^2
  // Wrong by less than 2^-37.
  static constexpr double float32[] = {0x1.5555555564eb7p-1, 0x1.999998cae671fp-2,
                                       0x1.249323f5fe0afp-2, 0x1.c67ad1801094dp-3,
                                       0x1.8c8cb725e67d1p-3};
  // Wrong by less than 2^-58.
  static constexpr double float64[] = {
      0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476c87p-2, 0x1.c71c720160b47p-3,
      0x1.745cf901605f5p-3, 0x1.3b1c360763bddp-3, 0x1.0fbe83c2cb59ep-3, 0x1.0c04595976d29p-3};
};
struct SinTerms {  // (sin(x) - x) / x^3 of x^2
  // Wrong by less than 2^-35.
  static constexpr double float32[] = {-0x1.555555545df18p-3, 0x1.11110deef0ae3p-7,
                                       -0x1.a013a740c35ccp-13, 0x1.6dbded5452c26p-19};
  // Wrong by less than 2^-55.
  static constexpr double float64[] = {-0x1.5555555555555p-3,  0x1.1111111110bb2p-7,
                                       -0x1.a01a019e83816p-13, 0x1.71de379654304p-19,
                                       -0x1.ae600aca92c63p-26, 0x1.5e0b05bff209ap-33};
};
struct CosTerms {  // (cos(x) - 1 + x^2 / 2) / x^4 of x^2
  // Wrong by less than 2^-38.
  static constexpr double float32[] = {0x1.5555555502c6dp-5, -0x1.6c16bf54be1f5p-10,
                                       0x1.a015c4462d9e1p-16, -0x1.25243c2f39502p-22};
  // Wrong by less than 2^-59.
  static constexpr double float64[] = {0x1.5555555555555p-5,  -0x1.6c16c16c16967p-10,
                                       0x1.a01a019f4e9b4p-16, -0x1.27e4fa17bf139p-22,
                                       0x1.1eeb68cd22f56p-29, -0x1.907d8f29fe7d9p-37};
};
struct AtanTerms {  // (atan(x) - x) / x^3 of x^2
  // Wrong by less than 2^-30.
  static constexpr double float32[] = {-0x1.5555554c099a8p-2, 0x1.99997b10270e9p-3,
                                       -0x1.248a167077611p-3, 0x1.c57b9120ea844p-4,
                                       -0x1.6143778c0fa34p-4, 0x1.9d86ebba7ffe9p-5};
  // Wrong by less than 2^-54.
  static constexpr double float64[] = {
      -0x1.5555555555555p-2, 0x1.999999999934ap-3, -0x1.24924924360cbp-3, 0x1.c71c7185314cbp-4,
      -0x1.745d0b26b83e6p-4, 0x1.3b1262d955799p-4, -0x1.10fa75382533cp-4, 0x1.dfe61e808ffddp-5,
      -0x1.a098bb6ba36fbp-5, 0x1.41603647c4b41p-5, -0x1.3a2b7a07c45fbp-6};
};
struct AsinTerms {  // (asin(x) - x) / x^3 of x^2
  // Wrong by less than 2^-31.
  static constexpr double float32[] = {
      0x1.5555555c01fc0p-3, 0x1.33331ece1ab72p-4, 0x1.6dc0f0a35133bp-5, 0x1.efede0aa12041p-6,
      0x1.82dbef0fbd9f0p-6, 0x1.5a7a5d5700880p-7, 0x1.fb8137c59d9b5p-6};
  // Wrong by less than 2^-55.
  static constexpr double float64[] = {
      0x1.5555555555556p-3, 0x1.3333333332ec9p-4, 0x1.6db6db6e32015p-5, 0x1.f1c71c1da63a6p-6,
      0x1.6e8bb1c9c50afp-6, 0x1.1c4d35a7a7712p-6, 0x1.c9cf0c30fbc69p-7, 0x1.78262197d46adp-7,
      0x1.52434da33da16p-7, 0x1.659ea882458dap-8, 0x1.1d2052b6f8fffp-6, -0x1.e6c3690dc6577p-7,
      0x1.d733cdf1f569bp-6};
};

}  // namespace daliesque::tensor
