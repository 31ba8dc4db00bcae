// SPDX-License-Identifier: Apache-2.0
//
// Names as compilers made them. Rust's of both schemes are from rustc 1.95, Haskell's from base
// 4.15, OCaml's from the standard libraries of 4.14 and 5.2.
#include "symbol/demangle.h"

#include <gtest/gtest.h>

namespace tracer {
namespace {

std::string full(std::string_view symbol, const DemangleContext& context = {}) {
    const auto name = demangle(symbol, context);
    return name ? name->full : "-";
}

std::string bare(std::string_view symbol, const DemangleContext& context = {}) {
    const auto name = demangle(symbol, context);
    return name ? name->bare : "-";
}

TEST(Demangle, CxxHasAFullAndABareName) {
    EXPECT_EQ(full("_ZN2ns5Class6methodEiPKc"), "ns::Class::method(int, char const*)");
    EXPECT_EQ(bare("_ZN2ns5Class6methodEiPKc"), "ns::Class::method");
    EXPECT_EQ(full("_ZNK2ns5Class4sizeEv"), "ns::Class::size() const");
    EXPECT_EQ(bare("_ZNK2ns5Class4sizeEv"), "ns::Class::size");
    EXPECT_EQ(bare("_ZN2ns5ClassC2Ev"), "ns::Class::Class");
    EXPECT_EQ(bare("_ZN2ns5ClassD0Ev"), "ns::Class::~Class");
    EXPECT_EQ(bare("_ZN2nsplERK1AS2_"), "ns::operator+");
}

TEST(Demangle, CxxTemplatesHaveNoReturnType) {
    EXPECT_EQ(full("_ZN2ns1fIiEEvT_"), "ns::f<int>(int)");
    EXPECT_EQ(bare("_ZN2ns1fIiEEvT_"), "ns::f<int>");
}

TEST(Demangle, CxxHasNoMarksOfTheLibrary) {
    EXPECT_EQ(full("_ZNK2ns5Class5titleB5cxx11Ei"), "ns::Class::title(int) const");
    EXPECT_EQ(bare("_ZNK2ns5Class5titleB5cxx11Ei"), "ns::Class::title");
}

TEST(Demangle, CxxPartsOfAFunctionKeepTheirMark) {
    EXPECT_EQ(full("_ZN2ns1fEi.cold"), "ns::f(int).cold");
    EXPECT_EQ(bare("_ZN2ns1fEi.cold"), "ns::f.cold");
    EXPECT_EQ(bare("_ZN2ns1fEi.constprop.0"), "ns::f.constprop.0");
}

TEST(Demangle, RustLegacyLosesItsHash) {
    EXPECT_EQ(full("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE"),
              "core::fmt::Formatter::write_str");
    EXPECT_EQ(
        bare("_ZN49_$LT$a..Request$u20$as$u20$core..fmt..Display$GT$3fmt17h958469befa5d27aaE"),
        "<a::Request as core::fmt::Display>::fmt");
}

TEST(Demangle, RustV0) {
    EXPECT_EQ(bare("_RNvCs4fqI2P2rA04_3app4main"), "app::main");
    EXPECT_EQ(bare("_RINvNtCs6xxl1lAjzDf_1a5inner5twiceyEB4_"), "a::inner::twice::<u64>");
    EXPECT_EQ(bare("_RINvNtC3std3mem8align_ofjE"), "std::mem::align_of::<usize>");
}

TEST(Demangle, HaskellIsDecoded) {
    EXPECT_EQ(bare("base_GHCziBase_map_info"), "GHC.Base.map");
    EXPECT_EQ(bare("base_DataziVoid_zdfOrdVoidzuzdczlzg_info"), "Data.Void.$fOrdVoid_$c<>");
    EXPECT_EQ(bare("ghczmprim_GHCziTuple_Z3T_con_info"), "GHC.Tuple.(,,){con}");
    EXPECT_EQ(bare("base_GHCziEventziControl_W_slow"), "GHC.Event.Control.W{slow}");
    EXPECT_EQ(bare("app_Appziz3b1U_f_info"), "App.\xce\xb1.f");
    EXPECT_EQ(bare("app_AppziM_Z0T_info"), "App.M.()");
    EXPECT_EQ(bare("app_AppziM_Z1H_info"), "App.M.(# #)");
}

TEST(Demangle, HaskellWithoutADotNeedsAProgramOfGhc) {
    EXPECT_EQ(bare("Main_main_info"), "-");
    EXPECT_EQ(bare("Main_main_info", {.is_haskell = true}), "Main.main");
    EXPECT_EQ(bare("ZCMain_main_info", {.is_haskell = true}), ":Main.main");
    EXPECT_EQ(bare("stg_ap_pp_info", {.is_haskell = true}), "-");
    EXPECT_EQ(bare("device_get_info", {.is_haskell = true}), "-");
}

TEST(Demangle, HaskellRefusesWhatIsNoEncoding) {
    for (const auto* symbol :
         {"base_GHCziBas_z_info", "base_GHCzi_Zx_info", "base_GHCziB_zk_info", "a_Bzic_z_info",
          "base_GHCziB_Z9_info", "base_GHCziB_Z99999999999T_info", "base_GHCziB_z0ffffffffU_info",
          "base_GHCziB_z0d800U_info", "base_GHCziB_z00U_info", "base_GHCziB_z3b1_info", "_info",
          "__info", "base__x_info", "GHCziBase_info"}) {
        EXPECT_EQ(bare(symbol), "-") << symbol;
    }
}

TEST(Demangle, OcamlOfBothSpellings) {
    EXPECT_EQ(full("camlStdlib__List__map_513"), "Stdlib.List.map_513");
    EXPECT_EQ(bare("camlStdlib__List__map_513"), "Stdlib.List.map");
    EXPECT_EQ(bare("camlStdlib__List.map_513"), "Stdlib.List.map");
    EXPECT_EQ(bare("camlStdlib.$5e_135"), "Stdlib.^");
    EXPECT_EQ(bare("camlDune__exe__Main__entry"), "Dune.exe.Main.entry");
    EXPECT_EQ(bare("camlDune__exe__Main.entry"), "Dune.exe.Main.entry");
    EXPECT_EQ(bare("camlApp__read__all_12"), "App.read__all");
    EXPECT_EQ(bare("camlApp__fun_7"), "App.fun_7");
}

TEST(Demangle, OcamlRefusesWhatItDidNotMake) {
    for (const auto* symbol : {"caml", "caml_alloc", "camlApp", "camlApp__", "camlApp__$",
                               "camlApp.$5", "camlApp.$zz_1", "camlApp.$01_1", "camlA__B__"}) {
        EXPECT_EQ(bare(symbol), "-") << symbol;
    }
}

TEST(Demangle, LeavesOtherNamesAlone) {
    for (const auto* symbol :
         {"", "main", "_Z", "_R", "_ZN", "_start", "_ZN2ns", "_Zebra", "_Real"}) {
        EXPECT_EQ(full(symbol), "-") << symbol;
    }
}

TEST(Demangle, BoundsWhatANameStandsFor) {
    // Each pair doubles what the one before it stands for; S0_ is A, S1_ the first pair.
    constexpr std::string_view kDigits = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string bomb = "_Z1fSt4pairI1AS0_E";
    for (const char digit : kDigits) {
        bomb += std::string("S_IS") + digit + "_S" + digit + "_E";
        if (digit == '2') {
            EXPECT_NE(full(bomb), "-");
        }
    }
    EXPECT_EQ(full(bomb), "-");
    EXPECT_EQ(full("_Z" + std::string(kMangledBytesMax, 'P') + "v"), "-");
    EXPECT_EQ(full("_Z1f" + std::string(3000, 'P') + "v"), "-");
}

TEST(Demangle, EveryCutOfANameIsRefusedOrNamed) {
    for (const std::string symbol : {"_ZN2ns5Class6methodEiPKc", "_RINvNtC3std3mem8align_ofjE",
                                     "base_DataziVoid_zdfOrd_info", "camlStdlib__List__map_513"}) {
        for (size_t bytes = 0; bytes < symbol.size(); ++bytes) {
            const auto name = demangle(symbol.substr(0, bytes));
            EXPECT_TRUE(!name || !name->bare.empty()) << symbol.substr(0, bytes);
        }
    }
}

}  // namespace
}  // namespace tracer
